/** Uploads and downloads of files: throughput, and memory of the server. */
import { type S3Server, s3Server } from "@weft/tooling/services"
import { peakMiB, resetPeak, residentMiB } from "../instruments/Memory.ts"
import type { Contender, Suite } from "../Suite.ts"
import { bucketTargets, type FileServer, type FileTarget, folderTargets } from "../targets/FileTargets.ts"

const KiB = 1024
const MiB = 1024 ** 2

interface Sizes {
  readonly whole: number
  readonly inParts: number
  readonly partBytes: number
  readonly small: number
}

/** `WEFT_BENCH_LARGE_MIB=5120` for 5 GiB in parts. */
const full: Sizes = {
  whole: 300 * MiB,
  inParts: Number(process.env.WEFT_BENCH_LARGE_MIB ?? 512) * MiB,
  partBytes: 64 * MiB,
  small: 1000
}
/** Smaller sizes for S3, because the bytes pass through two servers on this machine. */
const ofBucket: Sizes = { ...full, inParts: full.inParts / 2, small: 200 }
const short: Sizes = { whole: 20 * MiB, inParts: 24 * MiB, partBytes: 8 * MiB, small: 50 }

const partsAtOnce = 4
const crowd = 20
const small = { bytes: 4 * KiB, atOnce: 16 }

/** Returns the throughput per second. */
const rate = async (count: number, work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return (count / (performance.now() - began)) * 1000
}

const each = (count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<unknown> => {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  return Promise.all(Array.from({ length: atOnce }, worker))
}

const measure = async (server: FileServer, sizes: Sizes): Promise<Record<string, number>> => {
  const { upload, uploadInParts, download, remove } = server
  const figures: Record<string, number> = {}

  let id = ""
  const whole = sizes.whole / MiB
  figures[`${whole} MiB up: MiB/s`] = await rate(whole, async () => {
    id = await upload("whole", sizes.whole)
  })
  figures[`${whole} MiB down: MiB/s`] = await rate(whole, () => download(id, sizes.whole))
  await remove(id)

  const inParts = sizes.inParts / MiB
  figures["in parts, up: MiB/s"] = await rate(inParts, async () => {
    id = await uploadInParts("in-parts", sizes.inParts, { partBytes: sizes.partBytes, atOnce: partsAtOnce })
  })
  figures["in parts, down: MiB/s"] = await rate(inParts, () => download(id, sizes.inParts))
  await remove(id)

  const ids: Array<string> = []
  const share = sizes.whole / crowd
  figures[`${crowd} at once, up: MiB/s`] = await rate(whole, () =>
    each(crowd, crowd, async (index) => {
      ids[index] = await upload(`crowd/${index}`, share)
    })
  )
  figures[`${crowd} at once, down: MiB/s`] = await rate(whole, () =>
    each(crowd, crowd, (index) => download(ids[index] ?? "", share))
  )
  for (const one of ids) await remove(one)

  figures["4 KiB up: files/s"] = await rate(sizes.small, () =>
    each(sizes.small, small.atOnce, async (index) => {
      ids[index] = await upload(`small/${index}`, small.bytes)
    })
  )
  figures["4 KiB down: files/s"] = await rate(sizes.small, () =>
    each(sizes.small, small.atOnce, (index) => download(ids[index] ?? "", small.bytes))
  )
  await each(sizes.small, small.atOnce, (index) => remove(ids[index] ?? ""))
  return figures
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 1000))

/** Transfers a small file first, so that loaded code does not count as memory of the measurement. */
const warmUp = async ({ upload, download, remove }: FileServer): Promise<void> => {
  const id = await upload("warm", KiB)
  await download(id, KiB)
  await remove(id)
  await settle()
}

interface Idle {
  readonly server: FileServer
  /** Resident memory before the first transfer. */
  readonly idleMiB: number
}

const makeContender = (target: FileTarget, sizes: Sizes, open: Array<FileServer>): Contender => {
  let started: Idle | undefined
  const start = async (): Promise<Idle> => {
    const server = await target.start()
    open.push(server)
    await warmUp(server)
    return { server, idleMiB: server.pid === null ? 0 : residentMiB(server.pid) }
  }
  return {
    ...target,
    measure: async () => {
      started ??= await start()
      const { server, idleMiB } = started
      const { pid } = server
      if (pid === null) return measure(server, sizes)
      resetPeak(pid)
      const figures = await measure(server, sizes)
      return { ...figures, "peak memory over idle, MiB": peakMiB(pid) - idleMiB }
    }
  }
}

export const files: Suite = {
  name: "files",
  measures: "files through the HTTP API, compared byte by byte, and the memory of the server meanwhile",
  hasShort: true,
  headlines: ["300 MiB up: MiB/s", "300 MiB down: MiB/s", "in parts, up: MiB/s"],
  open: async ({ isShort }) => {
    const sizes = isShort ? short : full
    const open: Array<FileServer> = []
    let s3: Promise<S3Server> | undefined
    const theS3 = (): Promise<S3Server> => {
      s3 ??= s3Server()
      return s3
    }
    // S3 starts slowly.
    const inBucket = isShort ? [] : bucketTargets(theS3)
    const targets = [...folderTargets, ...inBucket]
    return {
      contenders: [
        ...folderTargets.map((target) => makeContender(target, sizes, open)),
        ...inBucket.map((target) => makeContender(target, ofBucket, open))
      ],
      settings: {
        ...Object.fromEntries(targets.map(({ name, settings }) => [name, settings])),
        "in parts": `${sizes.inParts / MiB} MiB (S3: ${ofBucket.inParts / MiB}) in parts of ${sizes.partBytes / MiB} MiB, ${partsAtOnce} at once`,
        "at once": `${crowd} files of ${sizes.whole / crowd / MiB} MiB`,
        "4 KiB": `${sizes.small} files (S3: ${ofBucket.small}), ${small.atOnce} clients`
      },
      close: async () => {
        await Promise.all(open.map((server) => server.close()))
        await (await s3)?.remove()
      }
    }
  }
}
