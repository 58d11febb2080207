"""The server of `sidelight serve`: requests, answers, a page, and the web application."""
