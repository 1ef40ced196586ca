/** Files go in and out: how fast, how evenly, and how much memory of the server it takes. */
import { downloadFile, type FileClient, removeFile, uploadFile, uploadInParts } from "../load/FileTransfers.ts"
import type { Contender, Suite } from "../Suite.ts"
import { forgetPeak, peakMiB, residentMiB } from "../targets/Memory.ts"
import { startWeft, type WeftServer } from "../targets/Server.ts"

const MiB = 1024 ** 2

const simpleBytes = 300 * MiB
/** `WEFT_BENCH_LARGE_MIB` for a quick look on a small disk. */
const largeBytes = Number(process.env.WEFT_BENCH_LARGE_MIB ?? 5 * 1024) * MiB
const parts = { partBytes: 64 * MiB, atOnce: 4 }
const crowd = 20
const crowdBytes = 40 * MiB

interface Work {
  readonly name: string
  /** Makes what is measured possible. */
  readonly prepare: (client: FileClient) => Promise<ReadonlyArray<string>>
  /** Gives the seconds that each transfer took. */
  readonly transfer: (client: FileClient, files: ReadonlyArray<string>) => Promise<ReadonlyArray<number>>
  readonly bytes: number
}

const seconds = async (work: Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work
  return (performance.now() - began) / 1000
}

const crowdOf = <A>(make: (index: number) => Promise<A>): Promise<ReadonlyArray<A>> =>
  Promise.all(Array.from({ length: crowd }, (_, index) => make(index)))

const uploading = (name: string, bytes: number, upload: (client: FileClient) => Promise<unknown>): Work => ({
  name,
  prepare: async () => [],
  transfer: async (client) => [await seconds(upload(client))],
  bytes
})

const downloading = (name: string, bytes: number, upload: (client: FileClient) => Promise<string>): Work => ({
  name,
  prepare: async (client) => [await upload(client)],
  transfer: async (client, [id = ""]) => [await seconds(downloadFile(client, id, bytes))],
  bytes
})

const simple = (client: FileClient) => uploadFile(client, "simple", simpleBytes)
const large = (client: FileClient) => uploadInParts(client, "large", largeBytes, parts)

const works: ReadonlyArray<Work> = [
  uploading("upload of 300 MiB", simpleBytes, simple),
  downloading("download of 300 MiB", simpleBytes, simple),
  uploading(`multipart upload of ${largeBytes / MiB} MiB`, largeBytes, large),
  downloading(`download of ${largeBytes / MiB} MiB`, largeBytes, large),
  {
    name: `${crowd} uploads at once`,
    prepare: async () => [],
    transfer: (client) => crowdOf((index) => seconds(uploadFile(client, `crowd/${index}`, crowdBytes))),
    bytes: crowd * crowdBytes
  },
  {
    name: `${crowd} downloads at once`,
    prepare: (client) => crowdOf((index) => uploadFile(client, `crowd/${index}`, crowdBytes)),
    transfer: (client, files) => crowdOf((index) => seconds(downloadFile(client, files[index] ?? "", crowdBytes))),
    bytes: crowd * crowdBytes
  }
]

const settle = () => new Promise((resolve) => setTimeout(resolve, 2000))

const contender = (server: WeftServer, idleMiB: number, { name, prepare, transfer, bytes }: Work): Contender => ({
  name,
  measure: async () => {
    const files = await prepare(server)
    await settle()
    forgetPeak(server.pid)
    const began = performance.now()
    const each = await transfer(server, files)
    const tookSeconds = (performance.now() - began) / 1000
    return {
      "MiB per second": bytes / MiB / tookSeconds,
      "peak memory over idle, MiB": peakMiB(server.pid) - idleMiB,
      "slowest to fastest": Math.max(...each) / Math.min(...each)
    }
  }
})

/** One small transfer first, so that the code that any transfer loads is not counted. */
const warmUp = async (server: WeftServer): Promise<number> => {
  const id = await uploadFile(server, "warm", 1024)
  await downloadFile(server, id, 1024)
  await removeFile(server, id)
  await settle()
  return residentMiB(server.pid)
}

export const transfers: Suite = {
  name: "transfers",
  measures: "files through the HTTP API, compared byte by byte, and the memory of the server meanwhile",
  open: async () => {
    const server = await startWeft({})
    const idleMiB = await warmUp(server)
    return {
      contenders: works.map((work) => contender(server, idleMiB, work)),
      settings: {
        weft: "the reference server, files in its data dir",
        parts: `${parts.partBytes / MiB} MiB, ${parts.atOnce} at once`,
        crowd: `${crowd} files of ${crowdBytes / MiB} MiB`,
        idle: `${idleMiB.toFixed(0)} MiB after one small transfer`
      },
      close: server.close
    }
  }
}
