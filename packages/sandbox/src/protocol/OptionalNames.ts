/** Detects bundles that use an API of the optional script. */

const names =
  /\b(?:URLPattern|(?:Dec|C)ompressionStream|MessageChannel|MessagePort|MessageEvent|BroadcastChannel|EventSource|WebSocket|CloseEvent|weft:sockets|createObjectURL|Performance(?:Entry|Mark|Measure|Observer)\w*|clearMarks|clearMeasures|getEntries(?:By(?:Name|Type))?)\b|\.(?:mark|measure)\(/

/** Last line of the scripts of such bundles: a runner finds it without reading a whole script. */
const mark = "//# weft:optional\n"

/** Returns the script with the mark if it mentions an API of the optional script. */
export const markOptional = (script: string): string =>
  names.test(script) ? `${script}${script.endsWith("\n") ? "" : "\n"}${mark}` : script

export const mentionsOptional = (script: string): boolean => script.endsWith(mark)
