/* Of the site that `make guide` builds: pictures are as light or dark as the page. */
function showPictures() {
  const kind = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  for (const picture of document.querySelectorAll('img[src*="images/"]')) {
    picture.src = picture.src.replace(/-(light|dark)\.png$/, `-${kind}.png`);
  }
}
new MutationObserver(showPictures).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
showPictures();
