/* Of the site that `make guide` builds: the search where its pages are opened as files.

   A browser starts no worker for a page that is a file. What would be one runs in a hidden frame then.
   The theme's own way is a script from the web, unless another one of this name is given to it. */
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      const sent = (data) => new MessageEvent("message", { data: structuredClone(data) });
      inside.document.open();
      // Between threads no message arrives before its sender has gone on.
      inside.postMessage = (data) => {
        const message = sent(data);
        setTimeout(() => this.onmessage?.(message));
      };
      this.postMessage = (data) => {
        const message = sent(data);
        loaded.then(() => setTimeout(() => inside.dispatchEvent(message)));
      };
      inside.document.write(`<script src="${new URL(url, location)}"><\/script>`);
      inside.document.close();
    }

    terminate() {
      this.frame.remove();
    }
  };
}
