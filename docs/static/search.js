// Ranks pages by how rare the words of a question are, and whether they are in a title; a page needs
// not have all of them. Sphinx's own search wants each word and ranks by the best one alone.
'use strict';

const IDLE = new Set(('how what why when where which who do does did can could should would i my me we ' +
  'you your from use using used get compute calculate find make work help error need want robot ros').split(' '));
const WORTH = {text: 1, section: 3, title: 3};
const BEHIND = /^(api\/|code\/|_modules\/|figures|results|errata|equations|open_problems|dependencies|architecture|theory|README|index)/;

function rankedPages(searchTerms, excludedTerms) {
  const {terms, titleterms, titles, docnames, filenames} = Search._index;
  const has = (table, word) => Object.prototype.hasOwnProperty.call(table, word) ? [table[word]].flat() : [];
  const stemmer = new Stemmer();
  const heads = titles.map(title => new Set(
    splitQuery(title.toLowerCase()).map(word => stemmer.stemWord(word))));
  const words = [...searchTerms].filter(word => !IDLE.has(word));
  const score = new Map();
  for (const word of words.length ? words : searchTerms) {
    let text = has(terms, word);
    const section = has(titleterms, word);
    if (!text.length && !section.length && word.length > 2)
      text = Object.keys(terms).filter(term => term.startsWith(word)).flatMap(term => has(terms, term));
    const files = new Set([...text, ...section]);
    const rare = Math.log(1 + docnames.length / Math.max(1, files.size));
    for (const file of files)
      score.set(file, (score.get(file) || 0) + rare * (WORTH.text
        + (section.includes(file) ? WORTH.section : 0) + (heads[file].has(word) ? WORTH.title + 1 / heads[file].size : 0)));
  }
  for (const word of excludedTerms)
    for (const file of [...has(terms, word), ...has(titleterms, word)]) score.delete(file);
  const behind = name => BEHIND.test(name) && !words.includes(stemmer.stemWord(name.split('/')[0]));
  const best = Math.max(...score.values());
  return [...score].filter(([, value]) => value > best / 4).map(([file, value]) => [
    docnames[file], titles[file], '', null,
    10 * value * (behind(docnames[file]) ? 0.5 : 1), filenames[file], SearchResultKind.text]);
}

if (typeof document.addEventListener === 'function')
  document.addEventListener('DOMContentLoaded', () => {
    if (typeof Search !== 'undefined') Search.performTermsSearch = rankedPages;
  });
