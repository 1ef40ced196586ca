/** Blobs in parts: each part is a file. Joining moves their folder and copies no byte. */
import { createHash } from "node:crypto"
import { access, type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import type { BlobPart, WrittenBlob } from "@weft/core/adapter"
import { linkFolder, placeFolder } from "./Content.ts"
import { orNull, ownerOnly, syncFolder } from "./Durable.ts"
import type { JoinedFolders } from "./JoinedFolders.ts"
import { type Manifest, readManifest, sizeOf, writeManifest } from "./Manifest.ts"
import { draftPath, joinedPath, newPartsName, type Places, partFile, partsPath } from "./Places.ts"

export const beginParts = async (places: Places): Promise<string> => {
  const name = newPartsName()
  await mkdir(partsPath(places, name), { mode: ownerOnly.folder })
  await syncFolder(places.parts)
  return name
}

export const areOpen = async (places: Places, name: string): Promise<boolean> =>
  (await orNull(access(partsPath(places, name)).then(() => true))) ?? false

/** Moves the draft of a part to its place. Returns false if the parts were joined or dropped. */
export const placePart = async (places: Places, name: string, number: number, draft: string): Promise<boolean> => {
  const folder = partsPath(places, name)
  if (!(await areOpen(places, name))) return false
  await rename(draft, partFile(folder, number))
  await syncFolder(folder)
  return true
}

/** Moves all parts to the drafts in one step, so that a crash leaves none of them. */
export const dropParts = async (places: Places, name: string): Promise<void> => {
  const draft = draftPath(places)
  await orNull(rename(partsPath(places, name), draft))
  await rm(draft, { recursive: true, force: true })
}

/** Returns null if a part is missing, or if the parts were dropped. */
export const joinParts = async (
  places: Places,
  joined: JoinedFolders,
  key: string,
  name: string,
  chosen: ReadonlyArray<BlobPart>
): Promise<WrittenBlob | null> => {
  const folder = partsPath(places, name)
  if (!(await areOpen(places, name))) return joinedBefore(places, joined, key, name)
  for (const part of chosen) if (!(await isThere(folder, part))) return null
  const manifest = manifestOf(chosen)
  await writeManifest(folder, manifest, draftPath(places))
  await removeUnlisted(folder, manifest)
  await syncFolder(folder)
  await placeFolder(places, joined, key, name, folder)
  return writtenOf(manifest)
}

/** Completes a repeated join: one that was done before, or begun before a crash. */
const joinedBefore = async (
  places: Places,
  joined: JoinedFolders,
  key: string,
  name: string
): Promise<WrittenBlob | null> => {
  const manifest = await orNull(readManifest(join(joinedPath(places, key), name)))
  if (manifest === null) return null
  await linkFolder(places, joined, key, name)
  return writtenOf(manifest)
}

const writtenOf = (manifest: Manifest): WrittenBlob => ({ size: sizeOf(manifest), digest: manifest.digest })

/** Computes the digest of the whole from the digests of the parts, without reading the bytes again. */
const manifestOf = (chosen: ReadonlyArray<BlobPart>): Manifest => {
  const hash = createHash("sha256")
  for (const { size, digest } of chosen) hash.update(`${size} ${digest}\n`)
  return {
    digest: `${hash.digest("hex")}x${chosen.length}`,
    parts: chosen.map(({ number, size }) => [number, size])
  }
}

const removeUnlisted = async (folder: string, { parts }: Manifest): Promise<void> => {
  const listed = new Set(["manifest", ...parts.map(([number]) => String(number))])
  for (const name of await readdir(folder)) if (!listed.has(name)) await rm(join(folder, name))
}

const digestBytes = 32

/** True if the part of this number has these bytes: its file ends with their digest. */
const isThere = async (folder: string, { number, size, digest }: BlobPart): Promise<boolean> => {
  const handle = await orNull(open(partFile(folder, number), "r"))
  if (handle === null) return false
  try {
    return (await handle.stat()).size === size + digestBytes && (await readDigest(handle, size)) === digest
  } finally {
    await handle.close()
  }
}

const readDigest = async (handle: FileHandle, position: number): Promise<string> => {
  const { buffer } = await handle.read({ buffer: Buffer.alloc(digestBytes), position })
  return buffer.toString("hex")
}
