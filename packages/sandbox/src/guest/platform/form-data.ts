/** `FormData`. */
import { Blob, File } from "./blob.ts"
import { brand, inspectCustom } from "./define.ts"
import { modules } from "./modules.ts"
import { definePairs } from "./pairs.ts"

export type FormDataValue = string | File

type Entry = readonly [name: string, value: FormDataValue]

const text = (value: unknown): string => String(value).toWellFormed()

const toFormValue = (value: unknown, filename: string | undefined): FormDataValue => {
  if (!(value instanceof Blob)) {
    if (filename !== undefined) {
      throw new TypeError("FormData: only a Blob can have a file name.")
    }
    return text(value)
  }
  if (value instanceof File && filename === undefined) {
    return value
  }
  const lastModified = value instanceof File ? { lastModified: value.lastModified } : {}
  return new File([value], filename ?? "blob", { type: value.type, ...lastModified })
}

let entryAt: (form: FormData, index: number) => Entry | undefined

export class FormData {
  declare readonly entries: () => IterableIterator<[string, FormDataValue]>
  declare readonly keys: () => IterableIterator<string>
  declare readonly values: () => IterableIterator<FormDataValue>
  declare readonly forEach: (
    callback: (value: FormDataValue, name: string, object: FormData) => void,
    self?: unknown
  ) => void
  declare readonly [Symbol.iterator]: () => IterableIterator<[string, FormDataValue]>
  #entries: Array<Entry> = []

  static {
    entryAt = (form, index) => form.#entries[index]
  }

  constructor(form: undefined = undefined) {
    if (form !== undefined) {
      throw new TypeError("FormData constructor: HTML forms are not supported.")
    }
  }

  append(name: string, value: string | Blob, filename: string | undefined = undefined): void {
    this.#entries.push([text(name), toFormValue(value, filename)])
  }

  delete(name: string): void {
    const key = text(name)
    this.#entries = this.#entries.filter((entry) => entry[0] !== key)
  }

  get(name: string): FormDataValue | null {
    const key = text(name)
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null
  }

  getAll(name: string): Array<FormDataValue> {
    const key = text(name)
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1])
  }

  has(name: string): boolean {
    const key = text(name)
    return this.#entries.some((entry) => entry[0] === key)
  }

  set(name: string, value: string | Blob, filename: string | undefined = undefined): void {
    const key = text(name)
    const entry: Entry = [key, toFormValue(value, filename)]
    const index = this.#entries.findIndex((each) => each[0] === key)
    if (index < 0) {
      this.#entries.push(entry)
      return
    }
    const kept = this.#entries.filter((each, at) => at === index || each[0] !== key)
    kept[index] = entry
    this.#entries = kept
  }

  [inspectCustom](): string {
    return `FormData ${modules.inspect().inspect([...this.entries()])}`
  }
}

brand({ FormData })
definePairs("FormData", FormData.prototype, entryAt)
