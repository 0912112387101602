/* Of the site that `make guide` builds: pictures are as light or dark as the page. */
function showPictures() {
  const kind = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  for (const picture of document.querySelectorAll('img[src*="images/"]')) {
    picture.src = picture.src.replace(/-(light|dark)\.png$/, `-${kind}.png`);
  }
}
new MutationObserver(showPictures).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
showPictures();

/* Browsers break lines after each hyphen. Code that fits into the line of a phone is not broken. */
for (const code of document.querySelectorAll(".md-typeset :not(pre) > code")) {
  if (code.textContent.length <= 32) {
    code.style.whiteSpace = "nowrap";
  }
}
