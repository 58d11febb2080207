"""Sequential learning: LO, L+I, IBT and SL (Roth, Small and Titov 2009)."""
