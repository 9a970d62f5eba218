"""The component vllm-rewrite."""
