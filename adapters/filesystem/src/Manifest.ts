/** The manifest of a joined blob, a file next to its parts. */
import { readFile, rename } from "node:fs/promises"
import { join } from "node:path"
import { Schema } from "effect"
import { writeDraft } from "./Draft.ts"

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    digest: Schema.String,
    /** Number and size in bytes of each part, in order. */
    parts: Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))
  })
)
export type Manifest = typeof Manifest.Type

const fileOf = (folder: string): string => join(folder, "manifest")

export const writeManifest = async (folder: string, manifest: Manifest, draft: string): Promise<void> => {
  await writeDraft(draft, new TextEncoder().encode(Schema.encodeSync(Manifest)(manifest)))
  await rename(draft, fileOf(folder))
}

export const readManifest = async (folder: string): Promise<Manifest> =>
  Schema.decodeUnknownSync(Manifest)(await readFile(fileOf(folder), "utf8"))

export const sizeOf = ({ parts }: Manifest): number => parts.reduce((sum, [, size]) => sum + size, 0)
