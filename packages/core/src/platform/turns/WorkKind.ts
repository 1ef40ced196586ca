/** Kinds of the host's work, which are labels of its metrics. */

export const workKinds = ["request", "host_call", "outcome", "list", "stream", "durable"] as const

/**
 * - `request`: an HTTP request or webhook, until its first wait
 * - `host_call`: a call of guest code, until its first wait
 * - `outcome`: the end of a run
 * - `list`: one piece of a page of records
 * - `stream`: messages that are encoded and written for one subscriber
 * - `durable`: an event for durable runs that wait for it, or the history of one that continues
 */
export type WorkKind = (typeof workKinds)[number]
