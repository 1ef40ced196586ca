/** Commands of a shell that do the same as actions of the page. Pure. */

/** Returns the request to the API as a command, for actions that the command line does not have. */
export const curlCommand = (method: string, path: string, body?: unknown): string =>
  [
    `curl -X ${method} -H "Authorization: Bearer $KEY" $API${path}`,
    ...(body === undefined ? [] : [`-H "Content-Type: application/json" -d ${shellWord(JSON.stringify(body))}`])
  ].join(" ")

/** Returns the text as one word of a shell command. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
