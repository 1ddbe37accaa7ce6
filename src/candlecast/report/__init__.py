"""Tables, figures and the page that holds them."""
