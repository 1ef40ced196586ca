/**
 * The page around a console in a frame. It passes a session and its own appearance by messages; the frame uses no cookie.
 *
 * The server's content security policy permits the frame in pages of the host only, so the parent is the host.
 */
import { createSignal } from "solid-js"

export const isEmbedded = window.parent !== window

export interface Appearance {
  readonly name: string | null
  readonly logo: string | null
  readonly accent: string | null
  readonly language: string | null
  readonly theme: string | null
  readonly pages: ReadonlyArray<string> | null
}

const none: Appearance = { name: null, logo: null, accent: null, language: null, theme: null, pages: null }

const [appearance, setAppearance] = createSignal<Appearance>(none)

/** The appearance that the host chose. */
export const hostAppearance = appearance

let token = ""

/** The token of the current session. It exists in memory only. */
export const hostToken = (): string => token

/** Time in which the host must send a session, in milliseconds. */
const answerMs = 15_000

let pending: Promise<void> | undefined

/** Requests a session from the host. Concurrent calls share one request. Rejects if the host does not respond. */
export const requestHostSession = (): Promise<void> => {
  pending ??= new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => finish(() => reject(new Error("The host has sent no session"))), answerMs)
    const onMessage = ({ source, data }: MessageEvent<unknown>) => {
      if (source !== window.parent || !isSessionMessage(data)) return
      token = data.token
      setAppearance(toAppearance(data))
      finish(resolve)
    }
    const finish = (settle: () => void) => {
      clearTimeout(timer)
      window.removeEventListener("message", onMessage)
      pending = undefined
      settle()
    }
    window.addEventListener("message", onMessage)
    // The message contains nothing confidential.
    window.parent.postMessage({ type: "weft:ready" }, "*")
  })
  return pending
}

interface SessionMessage {
  readonly token: string
  readonly [field: string]: unknown
}

const isSessionMessage = (data: unknown): data is SessionMessage =>
  typeof data === "object" &&
  data !== null &&
  "type" in data &&
  data.type === "weft:session" &&
  "token" in data &&
  typeof data.token === "string"

const matching = (value: unknown, shape: RegExp): string | null =>
  typeof value === "string" && shape.test(value) ? value : null

/** Ignores values that the page does not support. */
const toAppearance = ({ name, logo, accent, language, theme, pages }: SessionMessage): Appearance => ({
  name: matching(name, /^.{1,100}$/),
  logo: matching(logo, /^data:image\//),
  accent: matching(accent, /^#[0-9a-f]{6}$/i),
  language: matching(language, /^[a-z]{2}$/),
  theme: matching(theme, /^(?:light|dark|system)$/),
  pages: Array.isArray(pages) ? pages.filter((page) => typeof page === "string") : null
})
