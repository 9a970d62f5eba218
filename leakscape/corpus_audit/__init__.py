"""Auditing a rewritten or scrubbed corpus without a model: disclosures on train against phantoms on held-out."""
