/** Detects bundles that use an API of an optional script. */

/** The optional scripts, in the order in which an isolate runs them. */
export const optionalScripts = ["optional", "encodings"] as const
export type OptionalScript = (typeof optionalScripts)[number]

/** Matches scripts that may use an API of each optional script. */
const mentions: Readonly<Record<OptionalScript, RegExp>> = {
  optional:
    /\b(?:URLPattern|(?:Dec|C)ompressionStream|MessageChannel|MessagePort|MessageEvent|BroadcastChannel|EventSource|WebSocket|CloseEvent|weft:(?:sockets|dns)|createObjectURL|Performance(?:Entry|Mark|Measure|Observer)\w*|clearMarks|clearMeasures|getEntries(?:By(?:Name|Type))?)\b|\.(?:mark|measure)\(/,
  // A decoder without a label, or with the label "utf-8", needs no other encodings.
  encodings:
    /\bTextDecoder(?:Stream)?\b(?<!\btypeof \w+|\bnew \w+)(?!\((?:\)|["'`][Uu][Tt][Ff]-?8["'`]))|\bnew TextDecoder(?:Stream)?\((?!\)|["'`][Uu][Tt][Ff]-?8["'`])/
}

/** Last line of the scripts of such bundles: a runner finds it without reading a whole script. */
const mark = /\n\/\/# weft:([\w,]+)\n$/
const markLengthMax = 100

/** Returns the script with a mark if it mentions an API of an optional script. */
export const markOptional = (script: string): string => {
  const used = optionalScripts.filter((name) => mentions[name].test(script))
  return used.length === 0 ? script : `${script}${script.endsWith("\n") ? "" : "\n"}//# weft:${used.join()}\n`
}

/** Returns the optional scripts that the mark of a script names. */
export const readMark = (script: string): ReadonlyArray<OptionalScript> => {
  const names = mark.exec(script.slice(-markLengthMax))?.[1]?.split(",") ?? []
  return optionalScripts.filter((name) => names.includes(name))
}
