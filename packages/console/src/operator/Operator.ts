/**
 * The operator's client. Its credential is the admin token, which stays in the memory of this page. No cookie and no storage
 * contains it, so a reload asks for it again.
 */
import { createClient, type WeftClient, WeftError } from "@weft/client"
import { createSignal } from "solid-js"
import { apiOrigin } from "../api/consoleUrl.ts"
import { queryClient } from "../api/queries.ts"

const [adminToken, setAdminToken] = createSignal<string | null>(null)

/** True while the page has an admin token. */
export const isOperator = (): boolean => adminToken() !== null

const fetchWithoutCookie: typeof fetch = (input, init = {}) => fetch(input, { ...init, credentials: "omit" })

const fetchAsOperator: typeof fetch = async (input, init) => {
  const response = await fetchWithoutCookie(input, init)
  if (response.status === 401) forgetOperator()
  return response
}

const client = createClient({ baseUrl: apiOrigin, adminToken: () => adminToken() ?? "", fetch: fetchAsOperator })

export const admin: WeftClient["admin"] = client.admin

export const forgetOperator = (): void => {
  setAdminToken(null)
  queryClient.removeQueries({ queryKey: ["operator"] })
}

/** Holds a token that the server accepted. */
export const becomeOperator = (token: string): void => {
  setAdminToken(token)
}

/** Checks a token and holds it. Returns false if the server rejects it, or has no admin token. */
export const tryOperator = async (token: string): Promise<boolean> => {
  try {
    await createClient({ baseUrl: apiOrigin, adminToken: token, fetch: fetchWithoutCookie }).admin.listPlans({
      limit: 1
    })
  } catch (error) {
    if (error instanceof WeftError && (error.status === 401 || error.status === 404)) return false
    throw error
  }
  setAdminToken(token)
  return true
}
