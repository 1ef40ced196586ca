/** Weft embedded in this process, with one deployed build. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start, type WeftEnv } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Postgres from "@weft/postgres"
import * as IsolatedVm from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { bundle, sha256 } from "../instruments/upload.ts"

export interface Embedded {
  readonly env: WeftEnv
  /** SQLite file; null on PostgreSQL. */
  readonly file: string | null
  readonly close: () => Promise<void>
}

/** Starts Weft on SQLite in a new folder, or on the PostgreSQL database of `url`, like the reference server. */
export const startEmbedded = async (source: string, url?: string): Promise<Embedded> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-"))
  const file = join(dir, "weft.db")
  const database =
    url === undefined
      ? { database: Sqlite.database({ file }), cluster: MemoryStores.cluster }
      : { database: Postgres.database({ url }), cluster: Postgres.cluster({ url }) }
  const weft = await start({
    ...database,
    blobs: Filesystem.blobs({ dir: join(dir, "blobs") }),
    sandbox: IsolatedVm.sandbox(),
    masterKeys: [Filesystem.masterKey({ file: join(dir, "master.key") })]
  })
  const org = await weft.orgs.create({ slug: "bench" })
  const env = weft.env((await weft.envs.create(org.org_id, { name: "bench" })).env_id)
  await env.projects.create({ name: "bench" })
  const zip = bundle(source)
  const { build } = await env.builds.upload("bench", { zip, hash: sha256(zip) })
  await env.builds.deploy("bench", build.build_id)
  return {
    env,
    file: url === undefined ? file : null,
    close: async () => {
      await weft.close()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}
