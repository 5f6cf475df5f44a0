"""Text in pictures, read with the extra `ocr`."""
