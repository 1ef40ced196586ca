/** `node:url`: Node's own parser of the package `unenv`, without its warnings. */
import {
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  format as formatUrl,
  pathToFileURL,
  Url,
  urlToHttpOptions
} from "unenv/node/url"
import { refuse } from "./refuse.ts"

export const { URL, URLSearchParams } = globalThis

export const parse = (text: unknown, parseQuery?: boolean, slashesDenoteHost?: boolean) => {
  if (text instanceof Url) return text
  const url = new Url()
  url.parse(text, parseQuery, slashesDenoteHost)
  return url
}

Url.prototype.resolve = function (relative: string) {
  return this.resolveObject(parse(relative, false, true)).format()
}

export const resolve = (from: string, to: string): string => parse(from, false, true).resolve(to)
export const resolveObject = (from: string, to: string) =>
  from === "" ? to : parse(from, false, true).resolveObject(parse(to, false, true))

export const format = (url: unknown, options?: object): string =>
  typeof url === "string" ? parse(url).format() : formatUrl(url, options)

export const URLPattern: unknown = Reflect.get(globalThis, "URLPattern")
export const fileURLToPathBuffer = refuse("url.fileURLToPathBuffer")
export { domainToASCII, domainToUnicode, fileURLToPath, pathToFileURL, Url, urlToHttpOptions }

export default {
  domainToASCII,
  domainToUnicode,
  fileURLToPath,
  fileURLToPathBuffer,
  format,
  parse,
  pathToFileURL,
  resolve,
  resolveObject,
  URL,
  URLPattern,
  URLSearchParams,
  Url,
  urlToHttpOptions
}
