/** `multipart/form-data` (RFC 7578), written and parsed as by browsers. */
import { blobBytes, createBlob, File } from "./blob.ts"
import { concat } from "./bytes.ts"
import { FormData } from "./form-data.ts"
import { modules } from "./modules.ts"
import { decode, encode } from "./utf8.ts"

const newBoundary = (): string => {
  const random = modules.random().randomBytes(16)
  return `----formdata-${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}

const normalizeLines = (text: string): string => text.replace(/\r\n?|\n/g, "\r\n")

const escapeName = (name: string): string => name.replace(/\n/g, "%0A").replace(/\r/g, "%0D").replace(/"/g, "%22")

export const writeMultipart = (form: FormData): { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string } => {
  const boundary = newBoundary()
  const parts: Array<Uint8Array> = []
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalizeLines(name))}"`
    if (typeof value === "string") {
      parts.push(encode(`${head}\r\n\r\n${normalizeLines(value)}\r\n`))
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type
      parts.push(
        encode(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`),
        blobBytes(value),
        encode("\r\n")
      )
    }
  }
  parts.push(encode(`--${boundary}--\r\n`))
  return { bytes: concat(parts), type: `multipart/form-data; boundary=${boundary}` }
}

const find = (bytes: Uint8Array, needle: Uint8Array, from: number): number => {
  const first = needle[0] ?? 0
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (needle.every((byte, index) => bytes[at + index] === byte)) {
      return at
    }
  }
  return -1
}

interface PartHead {
  readonly name: string
  readonly filename: string | null
  readonly type: string
}

const unescapeName = (text: string): string => text.replace(/%0a/gi, "\n").replace(/%0d/gi, "\r").replace(/%22/g, '"')

const parseHead = (text: string): PartHead | null => {
  const disposition = /^content-disposition:[\t ]*form-data((?:;[\t ]*[\w-]+="[^"]*"[\t ]*)+)$/im.exec(text)?.[1] ?? ""
  const name = /;[\t ]*name="([^"]*)"/i.exec(disposition)?.[1]
  const filename = /;[\t ]*filename="([^"]*)"/i.exec(disposition)?.[1]
  const type = /^content-type:[\t ]*(.*?)[\t ]*$/im.exec(text)?.[1]
  if (name === undefined) {
    return null
  }
  return {
    name: unescapeName(name),
    filename: filename === undefined ? null : unescapeName(filename),
    type: type ?? "text/plain"
  }
}

const crlf = encode("\r\n")
const headEnd = encode("\r\n\r\n")

const startsWith = (bytes: Uint8Array, prefix: Uint8Array, at: number): boolean =>
  prefix.every((byte, index) => bytes[at + index] === byte)

/** Parses the parts of a body; null if it is malformed. */
export const parseMultipart = (bytes: Uint8Array, contentType: string): FormData | null => {
  const match = /;[\t ]*boundary=(?:"([^"]+)"|([^\t ;]+))/i.exec(contentType)
  const boundary = encode(`--${match?.[1] ?? match?.[2] ?? ""}`)
  // The line break before a boundary belongs to it, except at the very start.
  let at = startsWith(bytes, boundary, 0) ? boundary.length : -1
  const delimiter = concat([crlf, boundary])
  const form = new FormData()
  while (match !== null && at > 0) {
    if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) {
      return form
    }
    const bodyStart = find(bytes, headEnd, at)
    const bodyEnd = bodyStart < 0 ? -1 : find(bytes, delimiter, bodyStart + 2)
    const head =
      bodyEnd < 0 || !startsWith(bytes, crlf, at) ? null : parseHead(decode(bytes.subarray(at + 2, bodyStart)))
    if (head === null) {
      return null
    }
    const body = bytes.slice(bodyStart + 4, bodyEnd)
    form.append(head.name, head.filename === null ? decode(body) : toFile(body, head.filename, head.type))
    at = bodyEnd + delimiter.length
  }
  return null
}

const toFile = (body: Uint8Array, name: string, type: string): File =>
  new File([createBlob(body, type)], name, { type })
