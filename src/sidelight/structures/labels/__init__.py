"""Label sets, schemes of chunk labels, and evidence as arrays of labels."""
