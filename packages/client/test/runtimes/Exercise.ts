/** Exercises all features that could differ between runtimes. */
import { createClient, type UploadState, type WeftClient, WeftError } from "@weft/client"
import type { ExerciseInput, Report } from "./Report.ts"

const MiB = 1024 ** 2

let underWay = 0
let partsAtOnce = 0

const counted: typeof fetch = async (input, init) => {
  partsAtOnce = Math.max(partsAtOnce, ++underWay)
  try {
    return await fetch(input, init)
  } finally {
    underWay--
  }
}

const bytesOf = (length: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(length).map((_, index) => (index * 31 + (index >> 8) * 17) & 0xff)

const digestOf = async (bytes: ArrayBuffer): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join()

const transfers = async (weft: WeftClient) => {
  const bytes = bytesOf(22 * MiB)
  const progress: Array<number> = []
  const states: Array<UploadState> = []
  const file = await weft.files.upload("big file.bin", new File([bytes], "big"), {
    partSize: 5 * MiB,
    onProgress: ({ sent }) => progress.push(sent),
    onState: (state) => states.push(state)
  })
  const stored = await (await weft.files.download(file.file_id)).arrayBuffer()

  const interrupted = new AbortController()
  const onState = (state: UploadState) => {
    if (state.parts.length > 0) interrupted.abort(new Error("closed the page"))
  }
  const aborted = await weft.files
    .upload("aborted", new Blob([bytes]), { partSize: 5 * MiB, signal: interrupted.signal, onState })
    .catch(String)

  const stream = new Blob([bytes.slice(0, 9 * MiB)]).stream()
  const streamed = await weft.files.upload("streamed", stream, { contentType: "video/mp4" })
  return {
    progress,
    isSame: (await digestOf(stored)) === (await digestOf(bytes.buffer)),
    parts: states.at(-1)?.parts.length ?? 0,
    streamed: `${streamed.size} ${streamed.content_type}`,
    aborted: String(aborted)
  }
}

const subscriptions = async (weft: WeftClient) => {
  const environment = weft.streams.watchEnv()
  const first = environment.next()
  const watched: Array<string> = []
  let interruptions = 0
  const options = { onInterruption: () => interruptions++ }
  const input = { event_type: "import", event_data: { steps: 3, pause_ms: 300 } }
  for await (const message of weft.streams.publishAndWatch(input, options)) {
    watched.push(message.event === "stream:data" ? JSON.stringify(message.data.payload) : message.event)
    if (message.event === "run:stop") break
  }
  // The subscription may have started after the event, so another event follows.
  await weft.events.publish({ event_type: "order:created", event_data: { total: 1 } })
  const { value } = await first
  await environment.return()
  return { watched, interruptions, fromEnv: value?.event.split(":")[0] ?? "nothing" }
}

const lists = async (weft: WeftClient) => {
  let listed = 0
  for await (const { path } of weft.files.list({ limit: 1 })) listed += path.length > 0 ? 1 : 0
  const error = await weft.runs.get("none").catch((reason: unknown) => reason)
  return { listed, code: error instanceof WeftError ? error.code : String(error) }
}

const exercised = async (given: ExerciseInput): Promise<Report> => {
  const weft = createClient({ ...given, fetch: counted })
  const report = { ...(await transfers(weft)), ...(await subscriptions(weft)), ...(await lists(weft)) }
  return { ...report, partsAtOnce, agent: navigator.userAgent }
}

export const exercise = (given: ExerciseInput): Promise<Report | { readonly failure: string }> =>
  exercised(given).catch((error: unknown) => ({
    failure: error instanceof Error ? `${error.stack} ${error.cause}` : String(error)
  }))
