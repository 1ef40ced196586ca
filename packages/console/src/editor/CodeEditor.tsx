/** The text editor as a component. A separate file, because it is larger than all other pages together. */
import { createEffect, type JSX, on, onCleanup, onMount } from "solid-js"
import { t } from "../text/Language.ts"
import { type Editor, openEditor } from "./codeMirror.ts"

export default function CodeEditor(props: {
  /** Replaces the text when it changes. */
  readonly initial: string
  readonly secrets: ReadonlyArray<string>
  readonly onChange: (text: string) => void
}): JSX.Element {
  const parent = document.createElement("div")
  parent.className = "code"
  let editor: Editor | undefined
  let frame = 0
  const open = () => {
    // Until the component is inserted, its element belongs to the document of a template, which has no style sheets.
    if (!parent.isConnected) {
      frame = requestAnimationFrame(open)
      return
    }
    editor = openEditor({
      parent,
      text: props.initial,
      label: t().editor.source,
      onChange: (text) => props.onChange(text),
      secrets: () => props.secrets
    })
  }
  onMount(open)
  createEffect(
    on(
      () => props.initial,
      (text) => editor?.setText(text),
      { defer: true }
    )
  )
  onCleanup(() => {
    cancelAnimationFrame(frame)
    editor?.destroy()
  })
  return parent
}
