/**
 * Layout of the bucket, after the prefix:
 *
 * - `content/<key>`: the blobs.
 * - `parts/<mark>/<number>`: parts that are too small to be S3 blocks, until they are joined or dropped.
 * - `uploads/<object>~<upload>`: a record of an S3 upload in progress, so that another node can abort it if its writer dies.
 *   S3's own list of uploads differs between implementations. No key contains a `~`.
 * - `probes/<id>`: written at start to check that the bucket can be used.
 */
import { randomUUID } from "node:crypto"
import type { Upload } from "./Bucket.ts"

export interface Places {
  readonly content: (key: string) => string
  /** Prefix of all blobs. */
  readonly contents: string
  readonly part: (parts: Upload, number: number) => string
  /** Key of a part that is about to become a block. */
  readonly draft: (parts: Upload, number: number) => string
  /** Prefix of all parts that are objects. */
  readonly parts: (parts: Upload) => string
  /** Returns the number of the part that is this object; null for a draft. */
  readonly numberOf: (parts: Upload, object: string) => number | null
  readonly note: (upload: Upload) => string
  /** Prefix of all upload records of objects with this prefix; with a `~` at its end, of the object alone. */
  readonly notes: (object: string) => string
  /** Returns the upload that a record names. */
  readonly noted: (note: string) => Upload
  readonly probe: (id: string) => string
}

export const placesIn = (prefix: string): Places => {
  if (!isPrefix(prefix)) throw new Error(`${prefix} is no prefix of keys`)
  const root = prefix === "" ? "" : `${prefix}/`
  const parts = ({ mark }: Upload) => `${root}parts/${mark}/`
  const notes = (object: string) => `${root}uploads/${object.slice(root.length)}`
  return {
    content: (key) => {
      if (!isKey(key)) throw new Error(`${key} is no key of a blob`)
      return `${root}content/${key}`
    },
    contents: `${root}content/`,
    part: (upload, number) => `${parts(upload)}${checkedNumber(number)}`,
    draft: (upload, number) => `${parts(upload)}${checkedNumber(number)}-${randomUUID()}`,
    parts,
    numberOf: (upload, object) => {
      const name = object.slice(parts(upload).length)
      return /^[1-9][0-9]*$/.test(name) ? Number(name) : null
    },
    note: (upload) => `${notes(upload.key)}~${nameOf(upload)}`,
    notes,
    noted: (note) => {
      const last = note.lastIndexOf("~")
      return uploadOf(`${root}${note.slice(notes(root).length, last)}`, note.slice(last + 1))
    },
    probe: (id) => `${root}probes/${id}`
  }
}

export const isPrefix = (text: string): boolean => text === "" || isKey(text)

/** Keys consist of ids and fixed names; any other key is a programming error. */
const isKey = (key: string): boolean =>
  key.length <= 512 && key.split("/").every((segment) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(segment))

const checkedNumber = (number: number): number => {
  if (!Number.isSafeInteger(number) || number < 1 || number > 10_000)
    throw new Error(`${number} is no number of a part`)
  return number
}

/** The public name of parts: all data that is needed to continue with them. */
export const nameOf = ({ mark, id }: Upload): string => `${mark}.${Buffer.from(id).toString("base64url")}`

export const uploadOf = (key: string, name: string): Upload => {
  const [, mark, id] = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]+)$/.exec(name) ?? []
  if (mark === undefined || id === undefined) throw new Error(`${name} is no name of parts`)
  return { key, mark, id: Buffer.from(id, "base64url").toString() }
}
