/**
 * The text editor. Its styles are constructed sheets of a shadow root, because the content security policy permits no
 * style elements.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { javascript } from "@codemirror/lang-javascript"
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language"
import { EditorState } from "@codemirror/state"
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  tooltips
} from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { makeCompletion } from "./completion.ts"

export interface EditorOptions {
  readonly parent: HTMLElement
  readonly text: string
  /** Name for screen readers. */
  readonly label: string
  readonly onChange: (text: string) => void
  /** Names of the project's secrets, for completion. */
  readonly secrets: () => ReadonlyArray<string>
}

export interface Editor {
  readonly setText: (text: string) => void
  readonly destroy: () => void
}

/** Colours are those of the page, so that they follow its colour scheme. */
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--text)", padding: "10px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--text-muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--surface-sunken)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--surface-selected)"
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--surface-selected)",
    color: "inherit"
  },
  ".cm-tooltip": {
    border: "1px solid var(--border)",
    borderRadius: "6px",
    backgroundColor: "var(--surface-raised)",
    color: "var(--text)"
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "240px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--surface-selected)",
    color: "var(--text)"
  },
  ".cm-completionDetail": { color: "var(--text-muted)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "380px", padding: "8px 10px", fontFamily: "var(--sans)" }
})

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--busy)" },
  { tag: [tags.typeName, tags.className], color: "var(--wait)" },
  { tag: tags.comment, color: "var(--text-muted)" }
])

export const openEditor = ({ parent, text, label, onChange, secrets }: EditorOptions): Editor => {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" })
  const place = document.createElement("div")
  place.style.height = "100%"
  root.replaceChildren(place)
  const view = new EditorView({
    root,
    parent: place,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        EditorState.allowMultipleSelections.of(true),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        javascript({ typescript: true }),
        autocompletion({ override: [makeCompletion(secrets)], icons: false }),
        tooltips({ position: "absolute" }),
        syntaxHighlighting(highlighting),
        theme,
        // Tab moves the focus on, so that people without a mouse can leave the editor.
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        })
      ]
    })
  })
  return {
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    destroy: () => view.destroy()
  }
}
