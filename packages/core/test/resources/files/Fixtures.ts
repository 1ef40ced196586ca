/** Files of environments on test plans, for the tests in this folder. */
import { assert } from "@effect/vitest"
import { Bytes, Effect, Layer, Stream } from "effect"
import type { EnvId } from "../../../src/foundation/Ids.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { type Content, Files } from "../../../src/resources/files/Files.ts"
import * as Janitor from "../../../src/resources/files/Janitor.ts"
import { OpenUploads } from "../../../src/resources/files/OpenUploads.ts"
import { Readers } from "../../../src/resources/files/Readers.ts"
import { Uploads } from "../../../src/resources/files/Uploads.ts"
import type { Caller } from "../../../src/tenants/access/Caller.ts"
import { Plans } from "../../../src/tenants/orgs/Plans.ts"
import { Tenants } from "../../../src/tenants/orgs/Tenants.ts"
import { as, crypto, damageReports } from "../../Services.ts"

export const MiB = 1024 ** 2

/** `Free` is for small files, `Starter` for parts. */
const plans = {
  Free: { max_file_bytes: 1000, storage_bytes: 3000 },
  Starter: { max_file_bytes: 16 * MiB, storage_bytes: 30 * MiB }
}

/** The services of files on given stores, without the janitor. */
export const onStores = Layer.mergeAll(Files.layer, Uploads.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(OpenUploads.layer, Readers.layer, damageReports)),
  Layer.provideMerge(Layer.provideMerge(Tenants.layer, Plans.layer(plans))),
  Layer.provideMerge(crypto)
)

export const withJanitor = Janitor.layer.pipe(Layer.provideMerge(onStores))

/** The services with their janitor on new stores. */
export const services = withJanitor.pipe(Layer.provideMerge(MemoryStores.layer))

export const run = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof services>>) => Effect.provide(body, services)

/** Creates an environment of a new organization on a plan. */
export const envOn = Effect.fnUntraced(function* (plan: string, slug: string = plan.toLowerCase()) {
  const tenants = yield* Tenants
  yield* tenants.createOrg({ slug, plan })
  const env = yield* tenants.createEnv(slug, { name: "production" })
  return { env_id: env.env_id, org_id: env.org_id, host: as(env.env_id), with: limited(env.env_id) }
})

const limited =
  (envId: EnvId) =>
  (permissions: unknown) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
    as(envId, permissions)(effect)

/** Returns bytes that differ by seed. */
export const bytes = (size: number, seed = 1): Uint8Array => {
  const made = new Uint8Array(size).fill(seed)
  for (let at = 0; at < size; at += 1021) made[at] = at >> 8
  return made
}

/** Returns content in pieces, with a declared size unless it is null. */
export const content = (all: Uint8Array, size: number | null = all.length, pieces = 3): Content<never> => ({
  size,
  bytes: Stream.fromIterable(piecesOf(all, pieces)).pipe(Stream.rechunk(1))
})

const piecesOf = (all: Uint8Array, pieces: number): ReadonlyArray<Uint8Array> => {
  const length = Math.max(1, Math.ceil(all.length / pieces))
  return Array.from({ length: Math.ceil(all.length / length) }, (_, n) => all.subarray(n * length, (n + 1) * length))
}

export const upload = (path: string, all: Uint8Array, size: number | null = all.length) =>
  Files.use((files) => files.upload({ path, content_type: "text/plain", runId: null, ...content(all, size) }))

export const putPart = (id: string, number: number, all: Uint8Array, size: number | null = all.length) =>
  Uploads.use((uploads) => uploads.putPart(id, String(number), content(all, size)))

/** Reads the bytes of a file by its id. */
export const read = (fileId: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { read } = yield* Files.use((files) => files.open(fileId))
      return Bytes.concat(yield* Stream.runCollect(yield* read()))
    })
  )

export const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])

/** Claims all reservations and returns their keys. */
export const reservedKeys = FileStore.use((store) =>
  store.claimExpired(Timestamp.make(1e15), Timestamp.make(1e15), 1000)
)

/** Checks that the bytes of the environment's files exist, and that the keys of `gone` have none. */
export const checkBytes = Effect.fnUntraced(function* (envId: EnvId, gone: ReadonlyArray<string>) {
  const store = yield* FileStore
  const blobs = yield* BlobStore
  const { items } = yield* store.list(envId, { limit: 100, offset: 0 }, {})
  for (const file of items) assert.strictEqual((yield* blobs.get(file.storage_path)).length, file.size)
  const named = new Set(items.map((file) => file.storage_path))
  for (const key of gone) {
    if (!named.has(key)) assert.strictEqual((yield* Effect.flip(blobs.get(key)))._tag, "NotFound", key)
  }
})
