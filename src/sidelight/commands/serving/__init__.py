"""What `sidelight serve` answers, and to whom: questions, answers, a page, and the web application around them."""
