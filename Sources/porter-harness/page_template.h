/* page.html, line by line; written by scripts/embed-page. */
#ifndef PORTER_PAGE_TEMPLATE_H
#define PORTER_PAGE_TEMPLATE_H

/* Ends with NULL. */
extern const char *const page_template[];

#endif
