/** The session of the person: sign-in, renewal and sign-out. */
import { createSignal } from "solid-js"
import { consoleFetch, setSignedOutHandler } from "../api/consoleFetch.ts"
import { consolePath } from "../api/consoleUrl.ts"
import { queryClient } from "../api/queries.ts"
import { applyAppearance } from "../embed/applyAppearance.ts"
import { hostToken, isEmbedded, requestHostSession } from "../embed/Host.ts"
import { becomeOperator, forgetOperator } from "../operator/Operator.ts"

export interface ConsoleSession {
  readonly session_id: string
}

export interface EnvironmentChoice {
  readonly env_id: string
  readonly name: string
  readonly org_slug: string
}

/** `unknown` until the server has answered. `ended` is a session that expired or was revoked. */
type State =
  | { readonly status: "unknown" | "signed-out" | "ended" }
  | { readonly status: "signed-in"; readonly session: ConsoleSession }

const [state, setState] = createSignal<State>({ status: "unknown" })

export const sessionState = state

/** The session, or null. */
export const currentSession = (): ConsoleSession | null => {
  const current = state()
  return current.status === "signed-in" ? current.session : null
}

/** Thrown for a refused sign-in, with the server's message. */
export class SignInError extends Error {}

const url = `${consolePath}/session`

/** Interval of renewals, in milliseconds: less than half the lifetime of a session. */
const renewalMs = 25 * 60_000

let renewal: ReturnType<typeof setInterval> | undefined

const leave = (status: "signed-out" | "ended"): void => {
  forgetOperator()
  clearInterval(renewal)
  queryClient.clear()
  setState({ status })
}

setSignedOutHandler(() => {
  if (state().status === "signed-in") leave("ended")
})

/** Reads the session of the cookie, or in a frame that of the host. */
export const loadSession = async (): Promise<void> => {
  if (isEmbedded) return loadHostSession()
  const response = await consoleFetch(url)
  if (!response.ok) {
    if (state().status !== "ended") setState({ status: "signed-out" })
    return
  }
  const { data }: { readonly data: ConsoleSession } = await response.json()
  clearInterval(renewal)
  renewal = setInterval(() => void renew(), renewalMs)
  setState({ status: "signed-in", session: data })
}

const loadHostSession = async (): Promise<void> => {
  try {
    await requestHostSession()
    await applyAppearance()
    // The token is `s_<id>_<secret>`.
    setState({ status: "signed-in", session: { session_id: hostToken().split("_")[1] ?? "" } })
  } catch {
    leave("ended")
  }
}

const renew = async (): Promise<void> => {
  const response = await consoleFetch(url, { method: "PUT" })
  if (response.ok) await loadSession()
}

/** Signs in. For the admin token, returns the environments to choose from, unless one is given. */
export const signIn = async (token: string, envId?: string): Promise<ReadonlyArray<EnvironmentChoice> | null> => {
  const response = await consoleFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, ...(envId === undefined ? {} : { env_id: envId }) })
  })
  const body = await response.json()
  if (!response.ok) throw new SignInError(body.error.message)
  // Only the admin token has environments to choose from.
  if (response.status === 200) return body.data.environments
  if (envId !== undefined) becomeOperator(token)
  await loadSession()
  return null
}

export const signOut = async (): Promise<void> => {
  await consoleFetch(url, { method: "DELETE" })
  leave("signed-out")
}
