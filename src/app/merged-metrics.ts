const NAME = /^# (?:HELP|TYPE) (\S+)/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (.+)$/;

/**
 * The metrics of several processes as one text in the format of Prometheus: the samples of a metric follow each other, with the label
 * `process`. In: the text of each process, by the number of the process.
 */
export function mergeMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, { readonly about: Set<string>; readonly samples: string[] }>();
  for (const [process, text] of texts) {
    let family = { about: new Set<string>(), samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = NAME.exec(line)?.[1];
      if (name !== undefined) {
        family = families.get(name) ?? { about: new Set(), samples: [] };
        families.set(name, family);
        family.about.add(line);
        continue;
      }
      const [, sample, labels = '', value] = SAMPLE.exec(line) ?? [];
      if (sample === undefined) continue;
      const own = `process="${process}"`;
      family.samples.push(`${sample}{${labels === '' ? own : `${own},${labels}`}} ${value}`);
    }
  }
  return [...families.values()]
    .map(({ about, samples }) => `${[...about, ...samples].join('\n')}\n`)
    .join('\n');
}
