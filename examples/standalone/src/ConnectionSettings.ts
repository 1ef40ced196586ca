/** Limits of connections before authentication. */

export interface ConnectionSettings {
  readonly connections: number
  readonly headersMs: number
  readonly bodyIdleMs: number
  readonly sendIdleMs: number
  readonly connectionsPerAddress?: number
}

export const connectionSettings = (
  whole: (name: string, minimum: number, maximum?: number) => number | null
): ConnectionSettings => {
  const perAddress = whole("WEFT_LIMIT_CONNECTIONS_PER_ADDRESS", 1, 1_000_000)
  return {
    connections: whole("WEFT_LIMIT_CONNECTIONS", 1, 1_000_000) ?? 10_000,
    headersMs: whole("WEFT_LIMIT_HEADERS_MS", 100, 3_600_000) ?? 60_000,
    bodyIdleMs: whole("WEFT_LIMIT_BODY_IDLE_MS", 100, 3_600_000) ?? 60_000,
    sendIdleMs: whole("WEFT_LIMIT_SEND_IDLE_MS", 100, 3_600_000) ?? 60_000,
    ...(perAddress === null ? {} : { connectionsPerAddress: perAddress })
  }
}
