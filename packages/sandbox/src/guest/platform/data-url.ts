/** `data:` URLs as responses of `fetch`, without a request. */
import { decodeBase64 } from "./base64.ts"
import { parseMimeType, writeMimeType } from "./mime.ts"
import { Response } from "./response.ts"
import { percentDecodeBytes } from "./url/percent.ts"

const defaultType = "text/plain;charset=US-ASCII"

/** Returns the response for a `data:` URL in its serialized form; null if the URL is invalid. */
export const fetchData = (url: string, method: string): Response | null => {
  const text = url.replace(/#.*$/s, "").slice("data:".length)
  const comma = text.indexOf(",")
  if (comma < 0) {
    return null
  }
  const head = text.slice(0, comma).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "")
  const body = percentDecodeBytes(text.slice(comma + 1))
  const marker = /; *base64$/i.exec(head)
  const bytes = marker === null ? body : decodeBase64(latin1(body))
  if (bytes === null) {
    return null
  }
  const given = marker === null ? head : head.slice(0, marker.index)
  const type = parseMimeType(given.startsWith(";") ? `text/plain${given}` : given)
  const headers = { "content-type": type === null ? defaultType : writeMimeType(type) }
  return new Response(method === "HEAD" ? null : bytes, { headers })
}

const latin1 = (bytes: Uint8Array): string => {
  let text = ""
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return text
}
