/** Files of the console, read from `@weft/console` at the first request. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { extname } from "node:path"

export type Encoding = "br" | "gzip"

export interface ConsoleFile {
  readonly bytes: Uint8Array
  readonly contentType: string
  /** Compressed copies, which the build made. */
  readonly encoded: ReadonlyMap<Encoding, Uint8Array>
}

/** A page whose links are relative to `base`, which depends on the depth of the request's path. */
export interface ConsolePage {
  readonly html: string
  readonly etag: string
}

export interface ConsoleAssets {
  /** Returns the page for a request with this relative path to `/console/`. Null if the console was not built. */
  readonly page: (base: string) => Promise<ConsolePage | null>
  /** Returns a file of the folder `assets`, or null. */
  readonly file: (name: string) => Promise<ConsoleFile | null>
}

/** Format of the names that the build gives, with a hash of the content. Excludes every path to another folder. */
const fileName = /^[\w-]+\.(js|css|svg|woff2|png)$/

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".png": "image/png"
}

const placeholder = 'href="./" data-base'

/** Opens the files. They are cached, because they never change while the process runs. */
export const openConsoleAssets = (): ConsoleAssets => {
  const files = new Map<string, Promise<ConsoleFile | null>>()
  const pages = new Map<string, Promise<ConsolePage | null>>()
  let template: Promise<string | null> | undefined
  const readTemplate = (): Promise<string | null> => {
    template ??= readText("index.html").then((html) => {
      // A later request finds a console that was built meanwhile.
      if (html === null) template = undefined
      return html
    })
    return template
  }
  return {
    page: (base) =>
      cached(pages, base, async () => {
        const html = (await readTemplate())?.replace(placeholder, `href="${base}"`)
        return html === undefined ? null : { html, etag: `"${createHash("sha256").update(html).digest("base64url")}"` }
      }),
    file: (name) => (fileName.test(name) ? cached(files, name, () => readConsoleFile(name)) : Promise.resolve(null))
  }
}

/** Does not cache null, because strangers choose the keys. */
const cached = async <V>(
  entries: Map<string, Promise<V | null>>,
  key: string,
  make: () => Promise<V | null>
): Promise<V | null> => {
  const known = entries.get(key)
  if (known !== undefined) return known
  const value = make()
  entries.set(key, value)
  const found = await value
  if (found === null) entries.delete(key)
  return found
}

const readConsoleFile = async (name: string): Promise<ConsoleFile | null> => {
  const bytes = await readBytes(`assets/${name}`)
  if (bytes === null) return null
  const encoded = new Map<Encoding, Uint8Array>()
  for (const [encoding, extension] of [
    ["br", "br"],
    ["gzip", "gz"]
  ] as const) {
    const copy = await readBytes(`assets/${name}.${extension}`)
    if (copy !== null) encoded.set(encoding, copy)
  }
  return { bytes, contentType: contentTypes[extname(name)] ?? "application/octet-stream", encoded }
}

/** Reads a file of the package, or returns null if it does not exist. */
const readBytes = async (path: string): Promise<Uint8Array | null> => {
  try {
    return new Uint8Array(await readFile(createRequire(import.meta.url).resolve(`@weft/console/app/${path}`)))
  } catch {
    return null
  }
}

const readText = async (path: string): Promise<string | null> => {
  const bytes = await readBytes(path)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}
