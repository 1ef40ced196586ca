/**
 * Where things are in the bucket, after the prefix:
 *
 * - `content/<key>`: the blobs.
 * - `parts/<mark>/<number>`: parts that are too small to be blocks of S3, until they are joined or dropped.
 * - `uploads/<object>~<upload>`: notes an upload to one of the above that is under way, so that somebody can abort it
 *   when its writer dies. S3's own list of uploads differs between its kinds. No key has a `~`.
 * - `probes/<id>`: of a start, to see whether the bucket can be used.
 */
import { randomUUID } from "node:crypto"
import type { Upload } from "./Bucket.ts"

export interface Places {
  readonly content: (key: string) => string
  readonly part: (parts: Upload, number: number) => string
  /** Of a part on its way to become a block. */
  readonly draft: (parts: Upload, number: number) => string
  /** Before all parts that are objects. */
  readonly parts: (parts: Upload) => string
  /** The number of the part that is this object; null for a draft. */
  readonly numberOf: (parts: Upload, object: string) => number | null
  readonly note: (upload: Upload) => string
  /** Before all notes of uploads to objects that begin with this; with a `~` at its end, to the object alone. */
  readonly notes: (object: string) => string
  /** The upload that a note names. */
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

/** Keys are made by us, of ids and fixed names; anything else is a mistake of ours. */
const isKey = (key: string): boolean =>
  key.length <= 512 && key.split("/").every((segment) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(segment))

const checkedNumber = (number: number): number => {
  if (!Number.isSafeInteger(number) || number < 1 || number > 10_000)
    throw new Error(`${number} is no number of a part`)
  return number
}

/** What parts are called outside: all that is needed to go on with them. */
export const nameOf = ({ mark, id }: Upload): string => `${mark}.${Buffer.from(id).toString("base64url")}`

export const uploadOf = (key: string, name: string): Upload => {
  const [, mark, id] = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]+)$/.exec(name) ?? []
  if (mark === undefined || id === undefined) throw new Error(`${name} is no name of parts`)
  return { key, mark, id: Buffer.from(id, "base64url").toString() }
}
