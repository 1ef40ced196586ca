/** The cache of responses, and the keys of its entries. */

import { QueryClient } from "@tanstack/solid-query"
import { WeftError } from "@weft/client"

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The client retries already.
      retry: false,
      staleTime: 30_000,
      refetchOnWindowFocus: false
    }
  }
})

/**
 * Returns the result of a query, or undefined before it has one. `query.data` suspends the page around the component
 * meanwhile, also around a dialog: the page vanishes, and the dialog gets neither its label nor the focus.
 */
export const dataOf = <A>(query: { readonly isPending: boolean; readonly data: A | undefined }): A | undefined =>
  query.isPending ? undefined : query.data

/** Returns the message for people, and the id of the request for its operator. */
export const describeError = (error: unknown): { readonly message: string; readonly requestId: string | null } => ({
  message: error instanceof Error ? error.message : String(error),
  requestId: error instanceof WeftError ? error.requestId : null
})

/** True if the credential lacks a permission. */
export const isForbidden = (error: unknown): boolean => error instanceof WeftError && error.status === 403
