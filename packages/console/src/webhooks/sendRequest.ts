/** Requests to webhooks, which have the origin of the page. They carry no cookies. */

export interface Received {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
  /** Milliseconds from the request to the end of the response. */
  readonly ms: number
}

/** Characters of a response that the page shows. */
const bodyMax = 100_000

export const sendRequest = async (
  url: string,
  request: {
    readonly method: string
    readonly headers: ReadonlyArray<readonly [name: string, value: string]>
    readonly body?: string
  }
): Promise<Received> => {
  const began = performance.now()
  const { method, headers, body } = request
  const response = await fetch(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    credentials: "omit",
    redirect: "manual",
    cache: "no-store",
    ...(body === undefined ? {} : { body })
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: [...response.headers],
    body: pretty(text.slice(0, bodyMax)),
    ms: performance.now() - began
  }
}

/** Indents JSON. Returns other texts unchanged. */
const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Parses a header per line, as `name: value`. Ignores lines without a colon. */
export const parseHeaders = (text: string): ReadonlyArray<readonly [name: string, value: string]> =>
  text.split("\n").flatMap((line) => {
    const colon = line.indexOf(":")
    return colon < 1 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const]
  })
