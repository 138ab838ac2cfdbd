"""What scripts/plot_roofline.py is made of."""
