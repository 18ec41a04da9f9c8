"""The judge: it draws values, calls bodies that run elsewhere, and alone decides whether they keep their word."""
