/** Files that code names by URL, `new URL("./x.ts", import.meta.url)`, under the names of what they are built into. */
export const withBuiltUrls = (code: string, extension: ".js" | ".mjs"): string =>
  code.replace(/(new URL\(\s*["']\.[^"']*)\.ts(["'],\s*import\.meta\.url)/g, `$1${extension}$2`)
