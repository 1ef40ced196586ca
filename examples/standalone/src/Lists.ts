/** Settings with several values, separated by commas. */

/** Reads at most 16 valid entries. */
export const readList = (
  value: string | null,
  isValid: (entry: string) => boolean,
  refuse: () => never
): ReadonlyArray<string> => {
  const given = (value ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
  return given.length <= entriesMax && given.every(isValid) ? given : refuse()
}

/** Reads origins of web pages. */
export const readOrigins = (value: string | null, refuse: (reason: string) => never): ReadonlyArray<string> =>
  readList(value, isOrigin, () =>
    refuse("must be at most 16 origins such as https://app.example.com, separated by commas")
  )

/** Maximum entries of a list. */
const entriesMax = 16

const isOrigin = (entry: string): boolean => isHttpUrl(entry) && new URL(entry).origin === entry

export const isHttpUrl = (entry: string): boolean => URL.canParse(entry) && /^https?:$/.test(new URL(entry).protocol)
