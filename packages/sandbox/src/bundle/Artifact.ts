/**
 * The stored form of a build: script, source map and V8 code cache in one container, each authenticated.
 *
 * V8 runs a code cache without validation, so a manipulated one is equivalent to native code. Storage is therefore not
 * trusted: the cache has its own HMAC, bound to the script and to the engine that produced it. A cache that does not
 * verify is ignored, because it only saves time. A script that does not verify is not run.
 */
import { createHmac } from "node:crypto"
import { Mac } from "effect/crypto"
import type { Bundle } from "../supervisor/Build.ts"

const magic = "WEFT"
const version = 1
const macBytes = 32

/** Returns everything that a code cache depends on besides its script. */
export const engineTag = (flags: ReadonlyArray<string>): string =>
  [process.versions.v8, process.arch, process.platform, ...flags].join(" ")

export interface Sealed extends Bundle {
  /** The engine that produced the cache. */
  readonly engine: string
}

/**
 * Encodes and authenticates an artifact. Layout: magic, version, MAC of script and map, MAC of the cache, then four
 * parts, each after its length.
 */
export const sealArtifact = (key: Uint8Array, parts: Sealed): Uint8Array => {
  const head = Buffer.concat([Buffer.from(magic, "latin1"), Buffer.from([version])])
  const script = Buffer.from(parts.script, "utf8")
  const sourceMap = Buffer.from(parts.sourceMap, "utf8")
  const engine = Buffer.from(parts.engine, "utf8")
  const scriptMac = signScript(key, script, sourceMap)
  const cacheMac = signCache(key, scriptMac, engine, parts.cache)
  return Buffer.concat([
    head,
    scriptMac,
    cacheMac,
    ...[script, sourceMap, engine, parts.cache].flatMap((part) => [encodeLength(part), part])
  ])
}

/** Returns the parts of an artifact, or undefined if it was not made with this key. Omits a cache of another engine. */
export const openArtifact = (key: Uint8Array, engine: string, artifact: Uint8Array): Bundle | undefined => {
  const bytes = Buffer.from(artifact.buffer, artifact.byteOffset, artifact.byteLength)
  const headBytes = magic.length + 1
  if (bytes.length < headBytes + 2 * macBytes) return undefined
  if (bytes.toString("latin1", 0, magic.length) !== magic || bytes[magic.length] !== version) return undefined
  const scriptMac = bytes.subarray(headBytes, headBytes + macBytes)
  const cacheMac = bytes.subarray(headBytes + macBytes, headBytes + 2 * macBytes)
  const parts = splitParts(bytes, headBytes + 2 * macBytes)
  if (parts === undefined) return undefined
  const [script, sourceMap, madeBy, cache] = parts
  if (!Mac.timingSafeEqual(signScript(key, script, sourceMap), scriptMac)) return undefined
  const usable =
    madeBy.toString("utf8") === engine && Mac.timingSafeEqual(signCache(key, scriptMac, madeBy, cache), cacheMac)
  return {
    script: script.toString("utf8"),
    sourceMap: sourceMap.toString("utf8"),
    cache: usable ? new Uint8Array(cache) : new Uint8Array(0)
  }
}

const splitParts = (bytes: Buffer, from: number): readonly [Buffer, Buffer, Buffer, Buffer] | undefined => {
  const parts: Array<Buffer> = []
  let at = from
  while (parts.length < 4) {
    if (at + 4 > bytes.length) return undefined
    const end = at + 4 + bytes.readUInt32LE(at)
    if (end > bytes.length) return undefined
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  const [script, sourceMap, engine, cache] = parts
  if (at !== bytes.length || script === undefined || sourceMap === undefined) return undefined
  return engine === undefined || cache === undefined ? undefined : [script, sourceMap, engine, cache]
}

const encodeLength = (part: Uint8Array): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(part.length)
  return length
}

const signScript = (key: Uint8Array, script: Buffer, sourceMap: Buffer): Buffer =>
  createHmac("sha256", key)
    .update(`${magic} script ${version}`)
    .update(encodeLength(script))
    .update(script)
    .update(sourceMap)
    .digest()

const signCache = (key: Uint8Array, scriptMac: Buffer, engine: Buffer, cache: Uint8Array): Buffer =>
  createHmac("sha256", key)
    .update(`${magic} cache ${version}`)
    .update(scriptMac)
    .update(encodeLength(engine))
    .update(engine)
    .update(cache)
    .digest()
