/** Replaces the extension in `new URL("./x.ts", import.meta.url)` with that of the built file. */
export const withBuiltUrls = (code: string, extension: ".js" | ".mjs"): string =>
  code.replace(/(new URL\(\s*["']\.[^"']*)\.ts(["'],\s*import\.meta\.url)/g, `$1${extension}$2`)
