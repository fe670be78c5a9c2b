"""Where credentials are kept between runs."""
