/** Icons, drawn on a grid of 24 units. They are decoration: the text next to them or a label names the control. */
import type { JSX } from "solid-js"

const paths = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  runs: "M7 5l11 7-11 7z",
  operations: "M4 6h12M4 12h7M4 18h5M13 17l3 3 5-6",
  alerts: "M6 16v-5a6 6 0 0112 0v5l1.500 2h-15zM10 20.500a2.200 2.200 0 004 0",
  events: "M13 3L5 14h6l-1 7 9-12h-7z",
  streams: "M3 8c3-3 6 3 9 0s6 3 9 0M3 16c3-3 6 3 9 0s6 3 9 0",
  functions: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  schedules: "M12 7v5l3 2M12 21a9 9 0 100-18 9 9 0 000 18z",
  waiting: "M7 4h10M7 20h10M8 4v3l4 5-4 5v3M16 4v3l-4 5 4 5v3",
  webhooks: "M8 7l-4 5 4 5M16 7l4 5-4 5M4 12h16",
  projects: "M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4",
  editor: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  secrets: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 017 0v3M12 15v2",
  files: "M4 6h6l2 2h8v11H4z",
  domains: "M12 21a9 9 0 100-18 9 9 0 000 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  audit: "M6 3h9l3 3v15H6zM9 9h6M9 13h6M9 17h4",
  send: "M4 12l16-8-5 16-4-6z",
  download: "M12 4v11M7 10l5 5 5-5M4 20h16",
  upload: "M12 16V5M7 10l5-5 5 5M4 20h16",
  access: "M15 11a4 4 0 10-4-4c0 .6.100 1.100.300 1.600L4 16v4h4v-3h3v-3l2.400-3.300c.500.200 1 .300 1.600.300z",
  operator: "M4 5h16v5H4zM4 14h16v5H4zM8 7.500h.01M8 16.500h.01",
  search: "M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
  user: "M12 12a4 4 0 100-8 4 4 0 000 8zM4 20c1.500-3.500 4.500-5 8-5s6.500 1.500 8 5",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "M5 13l4 4L19 7",
  replay: "M4 12a8 8 0 108-8c-2.500 0-4.500 1-6 2.700M4 4v4h4",
  pause: "M8 5v14M16 5v14",
  stop: "M6 6h12v12H6z",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9l6 6 6-6"
} as const

export type IconName = keyof typeof paths

export const Icon = (props: { readonly name: IconName }): JSX.Element => (
  <svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={paths[props.name]} />
  </svg>
)
