/** File stores and their limits: a bare server for a folder, a bare client for S3. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type S3Server, s3Url } from "@weft/tooling/services"
import { type FileTransfers, fileTransfers } from "../load/FileTransfers.ts"
import { bareS3 } from "./BareS3.ts"
import { end, firstLine, startWeft } from "./Server.ts"

export interface FileServer extends FileTransfers {
  /** Pid of the server whose memory is measured; null if there is no server. */
  readonly pid: number | null
  readonly close: () => Promise<void>
}

export interface FileTarget {
  readonly name: string
  readonly isLimit?: boolean
  readonly limit?: string
  readonly settings: string
  readonly start: () => Promise<FileServer>
}

const folderLimit = "node:http and a folder"
const bucketLimit = "minio client"

const presignSeconds = 300

const synced = "bytes and directory entry are synced before the response"

const startFolder = async (): Promise<FileServer> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-"))
  const program = new URL("./plainFileServer.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [program, dir], { stdio: ["ignore", "pipe", "inherit"] })
  const url = `http://127.0.0.1:${await firstLine(child, /^\d+$/)}`
  return {
    ...fileTransfers({ url, key: "" }),
    pid: child.pid ?? null,
    close: async () => {
      await end(child)
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

const startWeftFiles = async (settings: Readonly<Record<string, string>>): Promise<FileServer> => {
  const { url, key, pid, close } = await startWeft({}, settings)
  return { ...fileTransfers({ url, key }), pid, close }
}

export const folderTargets: ReadonlyArray<FileTarget> = [
  {
    name: folderLimit,
    isLimit: true,
    settings: `Node ${process.version.slice(1)}; streams in chunks of 1 MiB; ${synced}; no digest, no record`,
    start: startFolder
  },
  {
    name: "Weft, folder",
    limit: folderLimit,
    settings: `the reference server with its defaults; ${synced}; SHA-256 of all bytes; record in SQLite, WAL, synchronous=FULL`,
    start: () => startWeftFiles({})
  }
]

/** Targets on one S3 server. */
export const bucketTargets = (server: () => Promise<S3Server>): ReadonlyArray<FileTarget> => [
  {
    name: bucketLimit,
    isLimit: true,
    settings: "minio 8.0.7, one client with its defaults; to Ceph's gateway, its store in memory, on the same machine",
    start: async () => bareS3(await server())
  },
  {
    name: "Weft, S3",
    limit: bucketLimit,
    settings: `the reference server; downloads go from the S3 server directly to the client (presign_seconds=${presignSeconds})`,
    start: async () =>
      startWeftFiles({
        WEFT_STORAGE_URL: `${s3Url(await server(), "weft-bench")}&presign_seconds=${presignSeconds}`
      })
  }
]
