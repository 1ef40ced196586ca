/** Packages without types, in the terms of Node's modules. */
declare module "readable-stream/lib/stream.js" {
  import stream from "node:stream"
  export default stream
}
declare module "buffer/index.js" {
  export { Buffer, INSPECT_MAX_BYTES, kMaxLength, SlowBuffer } from "node:buffer"
}
declare module "path-browserify" {
  import path from "node:path"
  export default path
}
declare module "events/events.js" {
  import { EventEmitter } from "node:events"
  export default EventEmitter
}
declare module "string_decoder/lib/string_decoder.js" {
  export { StringDecoder } from "node:string_decoder"
}
declare module "unenv/node/url" {
  export { domainToASCII, domainToUnicode, fileURLToPath, pathToFileURL, urlToHttpOptions } from "node:url"
  export const format: (url: unknown, options?: object) => string
  export class Url {
    parse(text: unknown, parseQuery?: boolean, slashesDenoteHost?: boolean): void
    resolve(relative: string): string
    resolveObject(relative: Url): Url
    format(): string
  }
}
declare module "unenv/node/internal/util/mime" {
  export { MIMEParams, MIMEType } from "node:util"
}
declare module "unenv/node/os" {
  export { constants } from "node:os"
}
declare module "unenv/node/constants" {
  const constants: Readonly<Record<string, number>>
  export default constants
}
declare module "unenv/node/zlib" {
  export { constants } from "node:zlib"
  export const codes: Readonly<Record<string, string | number>>
}
declare module "unenv/node/fs" {
  export { constants } from "node:fs"
}
