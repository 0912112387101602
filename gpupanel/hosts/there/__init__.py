"""The process of gpupanel on a host: it answers a window elsewhere by lines, and opens no port."""
